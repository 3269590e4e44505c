"""`python -m recall` is `recall`."""

from recall.cli import main

if __name__ == "__main__":
    main()
