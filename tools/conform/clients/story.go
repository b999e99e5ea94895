// The official Go client 8: the typed and the plain API, the bulk indexer, errors.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esutil"
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
	fmt.Println("ok")
}
