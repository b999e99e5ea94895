//! The handlers, one API family a file: parameters in, engine's operations, answers out.

pub mod bulk;
mod cat;
mod cluster;
mod copies;
mod document;
mod indices;
mod info;
mod mapping;
mod multi_get;
mod search;
mod security;

use engine::Result;
use env::Env;

use crate::call::Call;
use crate::fail;
use crate::reply::Reply;
use crate::table::Api;

/// Answers a call by its route.
///
/// # Errors
/// In Elasticsearch's words.
pub async fn answer<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    match call.route.api {
        Api::Info => info::info(call),
        Api::License => info::license(call),
        Api::Nodes => info::nodes(call),
        Api::Favicon => Ok(info::favicon()),
        Api::Bulk => bulk::bulk(call).await,
        Api::Index => document::index(call).await,
        Api::IndexAutoId => document::index_auto_id(call).await,
        Api::Create => document::create(call).await,
        Api::Get => document::get(call).await,
        Api::GetSource => document::source(call).await,
        Api::DeleteDocument => document::delete(call).await,
        Api::MultiGet => multi_get::multi_get(call).await,
        Api::Search => search::search(call).await,
        Api::Count => search::count(call).await,
        Api::CreateIndex => indices::create(call).await,
        Api::GetIndex => indices::get(call),
        Api::ExistsIndex => indices::exists(call),
        Api::DeleteIndex => indices::delete(call).await,
        Api::GetMapping => mapping::get(call),
        Api::PutMapping => mapping::put(call).await,
        Api::GetSettings => mapping::settings(call),
        Api::Refresh => indices::refresh(call).await,
        Api::Flush => indices::flush(call).await,
        Api::ForceMerge => indices::force_merge(call).await,
        Api::Analyze => indices::analyze(call),
        Api::Health => cluster::health(call).await,
        Api::Cat => Ok(cat::list()),
        Api::CatHealth => cat::health(call).await,
        Api::CatIndices => cat::indices(call).await,
        Api::Authenticate => security::authenticate(call),
        Api::ChangePassword => security::change_password(call).await,
        Api::Typed => {
            let uri = String::from_utf8_lossy(call.head.target()).into_owned();
            Ok(fail::no_handler(&uri, call.head.method_text()))
        }
    }
}
