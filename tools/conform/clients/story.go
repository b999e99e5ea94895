// The official Go client 8: the plain API, the bulk indexer, errors; then stock-keeping by the typed API, with buckets,
// an alias, and clerks who count the same shelf at the same time.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esutil"
	"github.com/elastic/go-elasticsearch/v8/typedapi/core/search"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types/enums/refresh"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ca, err := os.ReadFile(os.Args[3])
	check(err)
	client, err := elasticsearch.NewClient(elasticsearch.Config{
		Addresses: []string{os.Args[1]}, Username: "elastic", Password: os.Args[2], CACert: ca,
	})
	check(err)
	info, err := client.Info()
	check(err)
	if info.IsError() {
		log.Fatal(info)
	}
	created, err := client.Indices.Create("go")
	check(err)
	if created.IsError() {
		log.Fatal(created)
	}
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: client, Index: "go", Refresh: "true"})
	check(err)
	for n := 0; n < 500; n++ {
		check(indexer.Add(context.Background(), esutil.BulkIndexerItem{
			Action: "index", DocumentID: fmt.Sprint(n),
			Body: strings.NewReader(fmt.Sprintf(`{"n":%d,"text":"number %d"}`, n, n)),
		}))
	}
	check(indexer.Close(context.Background()))
	if stats := indexer.Stats(); stats.NumFlushed != 500 || stats.NumFailed != 0 {
		log.Fatalf("%+v", stats)
	}
	found, err := client.Search(
		client.Search.WithIndex("go"),
		client.Search.WithBody(bytes.NewBufferString(`{"query":{"range":{"n":{"gte":490}}},"size":2}`)),
	)
	check(err)
	var answer struct {
		Hits struct {
			Total struct{ Value int } `json:"total"`
			Hits  []json.RawMessage   `json:"hits"`
		} `json:"hits"`
	}
	check(json.NewDecoder(found.Body).Decode(&answer))
	if answer.Hits.Total.Value != 10 || len(answer.Hits.Hits) != 2 {
		log.Fatalf("%+v", answer)
	}
	missing, err := client.Get("go", "none")
	check(err)
	if missing.StatusCode != 404 {
		log.Fatal(missing)
	}
	removed, err := client.Indices.Delete([]string{"go"})
	check(err)
	if removed.IsError() {
		log.Fatal(removed)
	}
	stock(ca)
	fmt.Println("ok")
}

type shelf struct {
	Sku   string `json:"sku"`
	Place string `json:"place"`
	Count int    `json:"count"`
}

func stock(ca []byte) {
	ctx := context.Background()
	client, err := elasticsearch.NewTypedClient(elasticsearch.Config{
		Addresses: []string{os.Args[1]}, Username: "elastic", Password: os.Args[2], CACert: ca,
	})
	check(err)
	_, err = client.Indices.Create("stock-1").Mappings(&types.TypeMapping{Properties: map[string]types.Property{
		"sku": types.NewKeywordProperty(), "place": types.NewKeywordProperty(), "count": types.NewIntegerNumberProperty(),
	}}).Aliases(map[string]types.Alias{"stock": {}}).Do(ctx)
	check(err)
	for n := 0; n < 60; n++ {
		_, err = client.Index("stock").Id(fmt.Sprint(n)).Document(shelf{fmt.Sprintf("s%d", n%6), fmt.Sprintf("hall %d", n%3), n}).Do(ctx)
		check(err)
	}
	_, err = client.Indices.Refresh().Index("stock").Do(ctx)
	check(err)

	// Ten clerks add one each to the same shelf; whoever meets another's count looks again.
	var clerks sync.WaitGroup
	for clerk := 0; clerk < 10; clerk++ {
		clerks.Add(1)
		go func() {
			defer clerks.Done()
			for {
				got, err := client.Get("stock-1", "0").Do(ctx)
				check(err)
				var found shelf
				check(json.Unmarshal(got.Source_, &found))
				found.Count++
				_, err = client.Index("stock-1").Id("0").Document(found).
					IfSeqNo(fmt.Sprint(*got.SeqNo_)).IfPrimaryTerm(fmt.Sprint(*got.PrimaryTerm_)).Refresh(refresh.True).Do(ctx)
				if err == nil {
					return
				}
				if failed, ok := err.(*types.ElasticsearchError); !ok || failed.Status != 409 {
					log.Fatal(err)
				}
			}
		}()
	}
	clerks.Wait()

	size, field, sum := 0, "place", "count"
	report, err := client.Search().Index("stock").Request(&search.Request{
		Size: &size,
		Aggregations: map[string]types.Aggregations{"halls": {
			Terms:        &types.TermsAggregation{Field: &field},
			Aggregations: map[string]types.Aggregations{"all": {Sum: &types.SumAggregation{Field: &sum}}},
		}},
	}).Do(ctx)
	check(err)
	halls, ok := report.Aggregations["halls"].(*types.StringTermsAggregate)
	if !ok {
		log.Fatalf("%T", report.Aggregations["halls"])
	}
	total := 0.0
	for _, hall := range halls.Buckets.([]types.StringTermsBucket) {
		total += float64(*hall.Aggregations["all"].(*types.SumAggregate).Value)
	}
	if total != 60*59/2+10 {
		log.Fatalf("%v counted", total)
	}
	_, err = client.Search().Index("nowhere").Do(ctx)
	if failed, ok := err.(*types.ElasticsearchError); !ok || failed.ErrorCause.Type != "index_not_found_exception" {
		log.Fatal(err)
	}
	_, err = client.Indices.Delete("stock-1").Do(ctx)
	check(err)
}
