//! The handlers, one API family a file: parameters in, engine's operations, answers out.

mod alias;
mod allocation;
mod analyze;
pub mod bulk;
mod by_query;
mod cat;
mod cluster;
mod cluster_settings;
mod cluster_state;
mod cluster_stats;
mod copies;
mod data_stream;
mod disk_usage;
mod document;
mod explain;
mod field_caps;
mod field_uses;
mod health_report;
mod index_stats;
mod indices;
mod info;
mod long_answer;
mod mapping;
mod monitor;
mod multi_get;
mod multi_search;
mod nodes;
mod prometheus;
mod rank_eval;
mod recovery;
mod reroute;
mod resize;
mod resolve;
mod scalar;
mod script;
mod scroll;
mod search;
pub mod security;
mod segments;
mod settings;
mod shard_stores;
mod ssl;
mod task;
mod template;
mod update;
mod vectors;
pub mod watched;
mod written;

use std::pin::Pin;

use engine::Result;
use env::Env;

use crate::call::Call;
use crate::fail;
use crate::reply::Reply;
use crate::table::{Api, CatTable};

pub use info::VERSION;

/// What a call makes, by itself: most calls are rare and their work is long, so whoever chooses one need not have room for
/// the longest.
fn boxed<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(make())
}

/// Answers a call by its route.
///
/// # Errors
/// In Elasticsearch's words.
pub async fn answer<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // What names an index is asked for it by name, in words that tell it; items name their own. Patterns name none:
    // `_all` is refused as nothing is.
    // An exclusion names none either, nor does an empty part.
    let is_pattern = |part: &str| {
        part.is_empty() || part == "_all" || part.contains('*') || part.starts_with('-')
    };
    let index = call.path.get("index");
    let names_none =
        call.route.api.has_items() || index.is_none_or(|names| names.split(',').all(is_pattern));
    // Names that are not granted are passed over with those that are not there.
    let passes_over = call.route.api == Api::SearchShards
        || call.params.text("ignore_unavailable").is_some_and(|said| said.trim() == "true");
    if call.route.is_of_indices() && (names_none || passes_over) {
        call.gate.anywhere(call.route.privilege)?;
    }
    match call.route.api {
        Api::Info => info::info(call),
        Api::License => info::license(call),
        Api::Favicon => Ok(info::favicon()),
        Api::Bulk => bulk::bulk(call).await,
        Api::Index => document::index(call).await,
        Api::IndexAutoId => document::index_auto_id(call).await,
        Api::Create => document::create(call).await,
        Api::Get => document::get(call).await,
        Api::GetSource => document::source(call).await,
        Api::Update => update::update(call).await,
        Api::DeleteDocument => document::delete(call).await,
        Api::MultiGet => multi_get::multi_get(call).await,
        Api::Search => search::search(call).await,
        Api::SearchTemplate => boxed(|| script::search(call)).await,
        Api::RenderTemplate => boxed(|| script::render(call)).await,
        Api::MultiSearchTemplate => boxed(|| script::multi_search(call)).await,
        Api::PutScript => boxed(|| script::put(call)).await,
        Api::GetScript => script::get(call),
        Api::DeleteScript => boxed(|| script::delete(call)).await,
        Api::ExecuteScript => boxed(|| script::execute(call)).await,
        Api::ScriptLanguages => script::languages(call),
        Api::ScriptContexts => script::contexts(call),
        Api::MultiSearch => multi_search::multi_search(call).await,
        Api::RankEval => boxed(|| rank_eval::rank_eval(call)).await,
        Api::Scroll => boxed(|| scroll::next(call)).await,
        Api::ClearScroll => boxed(|| scroll::clear(call)).await,
        Api::OpenPointInTime => boxed(|| scroll::open_moment(call)).await,
        Api::ClosePointInTime => boxed(|| scroll::close_moment(call)).await,
        Api::DeleteByQuery => boxed(|| by_query::delete(call)).await,
        Api::UpdateByQuery => boxed(|| by_query::update(call)).await,
        Api::Reindex => boxed(|| by_query::reindex(call)).await,
        Api::Rethrottle => boxed(|| by_query::rethrottle(call)).await,
        Api::Tasks => boxed(|| task::list(call)).await,
        Api::Task => boxed(|| task::get(call)).await,
        Api::CancelTasks => boxed(|| task::cancel(call)).await,
        Api::Count => search::count(call).await,
        Api::TermVectors => boxed(|| vectors::one(call)).await,
        Api::MultiTermVectors => boxed(|| vectors::many(call)).await,
        Api::Explain => boxed(|| explain::explain(call)).await,
        Api::Validate => boxed(|| explain::validate(call)).await,
        Api::CreateIndex => boxed(|| indices::create(call)).await,
        Api::GetIndex => boxed(|| indices::get(call)).await,
        Api::ExistsIndex => boxed(|| indices::exists(call)).await,
        Api::DeleteIndex => boxed(|| indices::delete(call)).await,
        Api::GetMapping => boxed(|| mapping::get(call)).await,
        Api::PutMapping => boxed(|| mapping::put(call)).await,
        Api::GetFieldMapping => boxed(|| mapping::fields(call)).await,
        Api::GetSettings => boxed(|| settings::get(call)).await,
        Api::PutSettings => boxed(|| settings::put(call)).await,
        Api::CloseIndex => boxed(|| settings::close(call)).await,
        Api::OpenIndex => boxed(|| settings::open(call)).await,
        Api::Unfreeze => boxed(|| settings::unfreeze(call)).await,
        Api::AddBlock => boxed(|| settings::block(call)).await,
        Api::GetAlias => boxed(|| alias::get(call)).await,
        Api::ExistsAlias => boxed(|| alias::exists(call)).await,
        Api::PutAlias => boxed(|| alias::put(call)).await,
        Api::DeleteAlias => boxed(|| alias::delete(call)).await,
        Api::UpdateAliases => boxed(|| alias::update(call)).await,
        Api::PutTemplate(kind) => boxed(|| template::put(call, kind)).await,
        Api::GetTemplate(kind) => boxed(|| template::get(call, kind)).await,
        Api::ExistsTemplate(kind) => template::exists(call, kind),
        Api::DeleteTemplate(kind) => boxed(|| template::delete(call, kind)).await,
        Api::SimulateTemplate => boxed(|| template::simulate(call)).await,
        Api::SimulateIndex => boxed(|| template::simulate_index(call)).await,
        Api::IndexStats => boxed(|| index_stats::stats(call)).await,
        Api::Segments => boxed(|| segments::segments(call)).await,
        Api::Recovery => boxed(|| recovery::recovery(call)).await,
        Api::ShardStores => boxed(|| shard_stores::shard_stores(call)).await,
        Api::DiskUsage => boxed(|| disk_usage::disk_usage(call)).await,
        Api::FieldUsage => boxed(|| field_uses::stats(call)).await,
        Api::ClearCache => boxed(|| indices::clear_cache(call)).await,
        Api::ResolveIndex => boxed(|| resolve::index(call)).await,
        Api::FieldCaps => boxed(|| field_caps::get(call)).await,
        Api::ResolveCluster => boxed(|| resolve::cluster(call)).await,
        Api::ReloadAnalyzers => boxed(|| resolve::reload_analyzers(call)).await,
        Api::SearchShards => boxed(|| resolve::search_shards(call)).await,
        Api::Resize(kind) => boxed(|| resize::resize(call, kind)).await,
        Api::Rollover => boxed(|| resize::rollover(call)).await,
        Api::CreateDataStream => boxed(|| data_stream::create(call)).await,
        Api::GetDataStream => boxed(|| data_stream::get(call)).await,
        Api::DeleteDataStream => boxed(|| data_stream::delete(call)).await,
        Api::MigrateToDataStream => boxed(|| data_stream::migrate(call)).await,
        Api::ModifyDataStreams => boxed(|| data_stream::modify(call)).await,
        Api::DataStreamStats => boxed(|| data_stream::stats(call)).await,
        Api::Refresh => boxed(|| indices::refresh(call)).await,
        Api::Flush => boxed(|| indices::flush(call)).await,
        Api::ForceMerge => boxed(|| indices::force_merge(call)).await,
        Api::Analyze => boxed(|| indices::analyze(call)).await,
        Api::Health => boxed(|| cluster::health(call)).await,
        Api::ClusterState => boxed(|| cluster_state::state(call)).await,
        Api::ClusterStats => boxed(|| cluster_stats::stats(call)).await,
        Api::ClusterInfo => boxed(|| monitor::cluster_info(call)).await,
        Api::GetClusterSettings => boxed(|| cluster_settings::get(call)).await,
        Api::PutClusterSettings => boxed(|| cluster_settings::put(call)).await,
        Api::PendingTasks => allocation::pending_tasks(call),
        Api::Reroute => boxed(|| reroute::reroute(call)).await,
        Api::AllocationExplain => boxed(|| allocation::explain(call)).await,
        Api::ExcludeVotes => boxed(|| allocation::exclude_votes(call)).await,
        Api::IncludeVotes => boxed(|| allocation::include_votes(call)).await,
        Api::RemoteInfo => allocation::remote_info(call),
        Api::Shutdowns => allocation::shutdowns(call),
        Api::HealthReport => boxed(|| health_report::report(call)).await,
        Api::Nodes => boxed(|| nodes::nodes(call)).await,
        Api::NodesStats => boxed(|| nodes::stats(call)).await,
        Api::NodesUsage => nodes::usage(call),
        Api::HotThreads => boxed(|| nodes::hot_threads(call)).await,
        Api::ReloadSecureSettings => boxed(|| nodes::reload_secure_settings(call)).await,
        Api::RepositoriesMetering => nodes::repositories_metering(call),
        Api::Xpack => monitor::xpack(call),
        Api::XpackUsage => monitor::xpack_usage(call),
        Api::SslCertificates => boxed(|| ssl::certificates(call)).await,
        Api::Features => monitor::get_features(call),
        Api::BasicStatus => monitor::license_status(call, "eligible_to_start_basic"),
        Api::TrialStatus => monitor::license_status(call, "eligible_to_start_trial"),
        Api::StartBasic => monitor::start_basic(call),
        Api::Prometheus => boxed(|| prometheus::metrics(call)).await,
        Api::Cat => Ok(cat::list()),
        Api::CatTable(table) => boxed(|| cat_table(call, table)).await,
        Api::Security(op) => boxed(|| security::answer(op, call)).await,
        Api::Typed => {
            let uri = String::from_utf8_lossy(call.head.target()).into_owned();
            Ok(fail::no_handler(&uri, call.head.method_text()))
        }
    }
}

async fn cat_table<E: Env>(call: &Call<'_, E>, table: CatTable) -> Result<Reply> {
    match table {
        CatTable::Aliases => cat::aliases(call).await,
        CatTable::Allocation => cat::allocation(call).await,
        CatTable::ComponentTemplates => cat::component_templates(call).await,
        CatTable::Count => cat::count(call).await,
        CatTable::Fielddata => cat::fielddata(call).await,
        CatTable::Health => cat::health(call).await,
        CatTable::Indices => cat::indices(call).await,
        CatTable::Master => cat::master(call).await,
        CatTable::NodeAttrs => cat::nodeattrs(call).await,
        CatTable::Nodes => cat::nodes(call).await,
        CatTable::PendingTasks => cat::pending_tasks(call).await,
        CatTable::Plugins => cat::plugins(call).await,
        CatTable::Recovery => cat::recovery(call).await,
        CatTable::Repositories => cat::repositories(call).await,
        CatTable::Segments => cat::segments(call).await,
        CatTable::Shards => cat::shards(call).await,
        CatTable::Snapshots => cat::snapshots(call).await,
        CatTable::Tasks => cat::tasks(call).await,
        CatTable::Templates => cat::templates(call).await,
        CatTable::ThreadPool => cat::thread_pool(call).await,
    }
}
