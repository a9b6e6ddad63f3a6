"""What is said where the other end of a channel is away."""

from fsagent_tools.errors import NetworkError, OutcomeUnknown


def unreachable(where: str, error: object) -> NetworkError:
    """where: begins the sentence, such as "The tool server at URL"."""
    return NetworkError(
        f"{where} does not answer ({error}).",
        hint="Nothing was done. Tell the user, or try again later.",
    )


def lost(where: str, error: object) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"{where} gave no usable answer to the call ({error}).",
        hint="It may have been carried out: check before you go on.",
    )
