"""Commands: started, bounded, ended with all that they started."""
