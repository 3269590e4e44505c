"""Words that are opposites, and closed classes of values."""

from __future__ import annotations

from typing import Final

OPPOSITES: Final[tuple[tuple[str, str], ...]] = tuple(
    (left, right)
    for left, right in (
        pair.split("/")
        for pair in (
            "always/never always/rarely often/rarely often/never always/sometimes enable/disable enabled/disabled "
            "allow/deny allow/forbid allow/block allowed/denied allowed/forbidden permit/forbid permitted/forbidden "
            "like/dislike likes/dislikes like/hate likes/hates love/hate loves/hates prefer/avoid prefers/avoids "
            "use/avoid uses/avoids before/after increase/decrease increased/decreased increases/decreases "
            "increasing/decreasing raise/lower raised/lowered rise/fall rises/falls rose/fell up/down on/off in/out "
            "open/closed open/close opened/closed start/stop started/stopped starts/stops start/end begin/end "
            "accept/reject accepted/rejected approve/reject approved/rejected include/exclude included/excluded "
            "includes/excludes add/remove added/removed adds/removes with/without more/less most/least "
            "more/fewer above/below over/under left/right first/last early/late earlier/later fast/slow "
            "faster/slower quick/slow hot/cold warm/cool high/low higher/lower big/small large/small "
            "larger/smaller bigger/smaller long/short longer/shorter old/new older/newer young/old strong/weak "
            "good/bad better/worse best/worst true/false yes/no right/wrong correct/incorrect valid/invalid "
            "public/private internal/external inside/outside upstream/downstream push/pull read/write reads/writes "
            "import/export send/receive sends/receives sent/received buy/sell bought/sold buys/sells "
            "lend/borrow lent/borrowed give/take gave/took win/lose won/lost pass/fail passed/failed passes/fails "
            "success/failure succeed/fail succeeded/failed safe/unsafe safe/dangerous light/dark day/night "
            "morning/evening am/pm minimum/maximum min/max required/optional mandatory/optional sync/async "
            "synchronous/asynchronous manual/automatic manually/automatically online/offline local/remote "
            "single/married alive/dead male/female husband/wife mother/father son/daughter brother/sister "
            "north/south east/west ascending/descending arrive/leave arrived/left arrives/leaves join/leave "
            "joined/left hire/fire hired/fired promote/demote promoted/demoted agree/disagree agrees/disagrees "
            "trust/distrust trusts/distrusts active/inactive available/unavailable possible/impossible "
            "legal/illegal able/unable happy/unhappy full/empty cheap/expensive easy/hard easy/difficult "
            "simple/complex rich/poor wet/dry vegan/carnivore vegetarian/carnivore tabs/spaces tab/space "
            "upgrade/downgrade upgraded/downgraded install/uninstall installed/uninstalled lock/unlock "
            "locked/unlocked encrypt/decrypt connect/disconnect connected/disconnected mount/unmount "
            "same/different same/opposite both/neither either/neither everyone/nobody everyone/none "
            "everything/nothing all/none all/some some/none any/none"
        ).split()
    )
)

VALUE_CLASSES: Final[dict[str, frozenset[str]]] = {
    name: frozenset(members.split())
    for name, members in {
        "colour": "red blue green yellow purple cyan teal magenta orange pink brown black white gray beige violet navy "
        "turquoise maroon silver gold crimson indigo",
        "environment": "dev development staging prod production canary sandbox preprod qa",
        "language": "english german french spanish italian portuguese dutch polish russian chinese japanese korean "
        "swedish norwegian danish finnish greek turkish arabic hindi czech hungarian hebrew ukrainian",
        "programming language": "python java javascript typescript rust ruby kotlin swift php perl scala haskell "
        "erlang elixir golang fortran cobol lua",
        "device": "laptop desktop tablet smartphone",
        "size": "tiny small medium large",
        "kin": "mother father brother sister son daughter uncle aunt cousin nephew niece husband wife grandmother "
        "grandfather",
        "instrument": "guitar piano violin cello viola drum flute saxophone trumpet clarinet ukulele",
        "meal": "breakfast lunch dinner brunch",
        "science": "physics chemistry biology mathematics geology astronomy",
        "shell": "bash zsh fish powershell",
        "database": "postgres postgresql mysql sqlite mongodb mariadb cassandra redis memcached",
        "package manager": "npm yarn pnpm bun pip poetry conda",
        "room": "kitchen bathroom bedroom garage cellar basement attic",
        "editor": "vim neovim emacs nano sublime vscode helix",
        "layer": "frontend backend",
        "pet": "dog cat parrot hamster rabbit goldfish",
    }.items()
}
"""Closed classes of values."""
