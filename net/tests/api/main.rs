//! A whole node behind HTTP, on a simulated machine: requests as bytes, answers as bytes.

mod admin;
mod aliases;
mod around;
mod cat;
mod conventions;
mod counted;
mod dated;
mod denied;
mod documents;
mod drift;
mod indices;
mod letting_in;
mod limited;
mod lost;
mod meaning;
mod parts;
mod place;
mod scripts;
mod searches;
mod security;
mod shown;
mod streams;
mod tells;
mod templates;
mod warned;
mod watch;
