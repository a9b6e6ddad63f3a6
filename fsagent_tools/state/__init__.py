"""What outlives a process, behind six verbs: records of calls, and line indexes."""
