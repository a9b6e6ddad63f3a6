"""What a process may touch, enforced by the kernel; no shell text is parsed."""
