"""What a toolset makes of a call: parameters, schema, tools, outcomes."""
