//! stub, replaced in a minute
