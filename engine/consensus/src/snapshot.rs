//! The file that a replicated value is saved in, so that its log may be shortened.
