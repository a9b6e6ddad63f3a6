"""`python -m fsagent_tools.cli`."""

from fsagent_tools.cli import main

raise SystemExit(main())
