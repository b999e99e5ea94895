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

use engine::Result;
use env::Env;

use crate::call::Call;
use crate::fail;
use crate::reply::Reply;
use crate::table::{Api, CatTable};

pub use info::VERSION;

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
        Api::SearchTemplate => script::search(call).await,
        Api::RenderTemplate => script::render(call).await,
        Api::MultiSearchTemplate => script::multi_search(call).await,
        Api::PutScript => script::put(call).await,
        Api::GetScript => script::get(call),
        Api::DeleteScript => script::delete(call).await,
        Api::ExecuteScript => script::execute(call).await,
        Api::ScriptLanguages => script::languages(call),
        Api::ScriptContexts => script::contexts(call),
        Api::MultiSearch => multi_search::multi_search(call).await,
        Api::RankEval => rank_eval::rank_eval(call).await,
        Api::Scroll => scroll::next(call).await,
        Api::ClearScroll => scroll::clear(call).await,
        Api::OpenPointInTime => scroll::open_moment(call).await,
        Api::ClosePointInTime => scroll::close_moment(call).await,
        Api::DeleteByQuery => by_query::delete(call).await,
        Api::UpdateByQuery => by_query::update(call).await,
        Api::Reindex => by_query::reindex(call).await,
        Api::Rethrottle => by_query::rethrottle(call).await,
        Api::Tasks => task::list(call).await,
        Api::Task => task::get(call).await,
        Api::CancelTasks => task::cancel(call).await,
        Api::Count => search::count(call).await,
        Api::TermVectors => vectors::one(call).await,
        Api::MultiTermVectors => vectors::many(call).await,
        Api::Explain => explain::explain(call).await,
        Api::Validate => explain::validate(call).await,
        Api::CreateIndex => indices::create(call).await,
        Api::GetIndex => indices::get(call).await,
        Api::ExistsIndex => indices::exists(call).await,
        Api::DeleteIndex => indices::delete(call).await,
        Api::GetMapping => mapping::get(call).await,
        Api::PutMapping => mapping::put(call).await,
        Api::GetFieldMapping => mapping::fields(call).await,
        Api::GetSettings => settings::get(call).await,
        Api::PutSettings => settings::put(call).await,
        Api::CloseIndex => settings::close(call).await,
        Api::OpenIndex => settings::open(call).await,
        Api::Unfreeze => settings::unfreeze(call).await,
        Api::AddBlock => settings::block(call).await,
        Api::GetAlias => alias::get(call).await,
        Api::ExistsAlias => alias::exists(call).await,
        Api::PutAlias => alias::put(call).await,
        Api::DeleteAlias => alias::delete(call).await,
        Api::UpdateAliases => alias::update(call).await,
        Api::PutTemplate(kind) => template::put(call, kind).await,
        Api::GetTemplate(kind) => template::get(call, kind).await,
        Api::ExistsTemplate(kind) => template::exists(call, kind),
        Api::DeleteTemplate(kind) => template::delete(call, kind).await,
        Api::SimulateTemplate => template::simulate(call).await,
        Api::SimulateIndex => template::simulate_index(call).await,
        Api::IndexStats => index_stats::stats(call).await,
        Api::Segments => segments::segments(call).await,
        Api::Recovery => recovery::recovery(call).await,
        Api::ShardStores => shard_stores::shard_stores(call).await,
        Api::DiskUsage => disk_usage::disk_usage(call).await,
        Api::FieldUsage => field_uses::stats(call).await,
        Api::ClearCache => indices::clear_cache(call).await,
        Api::ResolveIndex => resolve::index(call).await,
        Api::FieldCaps => field_caps::get(call).await,
        Api::ResolveCluster => resolve::cluster(call).await,
        Api::ReloadAnalyzers => resolve::reload_analyzers(call).await,
        Api::SearchShards => resolve::search_shards(call).await,
        Api::Resize(kind) => resize::resize(call, kind).await,
        Api::Rollover => resize::rollover(call).await,
        Api::CreateDataStream => data_stream::create(call).await,
        Api::GetDataStream => data_stream::get(call).await,
        Api::DeleteDataStream => data_stream::delete(call).await,
        Api::MigrateToDataStream => data_stream::migrate(call).await,
        Api::ModifyDataStreams => data_stream::modify(call).await,
        Api::DataStreamStats => data_stream::stats(call).await,
        Api::Refresh => indices::refresh(call).await,
        Api::Flush => indices::flush(call).await,
        Api::ForceMerge => indices::force_merge(call).await,
        Api::Analyze => indices::analyze(call).await,
        Api::Health => cluster::health(call).await,
        Api::ClusterState => cluster_state::state(call).await,
        Api::ClusterStats => cluster_stats::stats(call).await,
        Api::ClusterInfo => monitor::cluster_info(call).await,
        Api::GetClusterSettings => cluster_settings::get(call).await,
        Api::PutClusterSettings => cluster_settings::put(call).await,
        Api::PendingTasks => allocation::pending_tasks(call),
        Api::Reroute => reroute::reroute(call).await,
        Api::AllocationExplain => allocation::explain(call).await,
        Api::ExcludeVotes => allocation::exclude_votes(call).await,
        Api::IncludeVotes => allocation::include_votes(call).await,
        Api::RemoteInfo => allocation::remote_info(call),
        Api::Shutdowns => allocation::shutdowns(call),
        Api::HealthReport => health_report::report(call).await,
        Api::Nodes => nodes::nodes(call).await,
        Api::NodesStats => nodes::stats(call).await,
        Api::NodesUsage => nodes::usage(call),
        Api::HotThreads => nodes::hot_threads(call).await,
        Api::ReloadSecureSettings => nodes::reload_secure_settings(call).await,
        Api::RepositoriesMetering => nodes::repositories_metering(call),
        Api::Xpack => monitor::xpack(call),
        Api::XpackUsage => monitor::xpack_usage(call),
        Api::SslCertificates => ssl::certificates(call).await,
        Api::Features => monitor::get_features(call),
        Api::BasicStatus => monitor::license_status(call, "eligible_to_start_basic"),
        Api::TrialStatus => monitor::license_status(call, "eligible_to_start_trial"),
        Api::StartBasic => monitor::start_basic(call),
        Api::Prometheus => prometheus::metrics(call).await,
        Api::Cat => Ok(cat::list()),
        Api::CatTable(table) => cat_table(call, table).await,
        Api::Security(op) => security::answer(op, call).await,
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
