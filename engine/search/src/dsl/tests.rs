//! What the readers say of good and bad requests.
