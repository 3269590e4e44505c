"""Answers calls: every method is check → call → convert; it decides nothing.

`app` assembles the whole. One file per proto service; `checks*` refuses bad requests field by field, `convert` turns
records into messages and back, `errors` is the one table of statuses, `interceptors` maps or hides what is raised.
"""
