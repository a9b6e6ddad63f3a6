"""Pages and search results from the public web, through one guarded connection."""
