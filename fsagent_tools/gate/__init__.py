"""Nothing happens unasked: the gate, requests for approval, who is asked."""
