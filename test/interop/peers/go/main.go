// franz-go, run by the interop tests: peer COMMAND OPTIONS_AS_JSON. Writes what happens as one JSON object a line; a line on standard
// input ends a group member in order.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type record struct {
	Key       string      `json:"key"`
	Value     string      `json:"value"`
	Partition int32       `json:"partition"`
	Headers   [][2]string `json:"headers"`
}

var options struct {
	Brokers   string   `json:"brokers"`
	Topic     string   `json:"topic"`
	Onward    string   `json:"onward"`
	Group     string   `json:"group"`
	Assignor  string   `json:"assignor"`
	Codec     string   `json:"codec"`
	Partition int32    `json:"partition"`
	Offset    int64    `json:"offset"`
	Count     int      `json:"count"`
	Members   int      `json:"members"`
	Records   []record `json:"records"`
}

var telling sync.Mutex

type fields map[string]any

func tell(event string, more fields) {
	telling.Lock()
	defer telling.Unlock()
	line := fields{"event": event}
	for name, value := range more {
		line[name] = value
	}
	text, err := json.Marshal(line)
	check(err)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func client(more ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(strings.Split(options.Brokers, ",")...),
		kgo.ClientID("franz-go"),
		kgo.FetchMaxWait(50 * time.Millisecond),
	}, more...)...)
	check(err)
	return made
}

func tellRecord(r *kgo.Record) {
	headers := [][2]string{}
	for _, header := range r.Headers {
		headers = append(headers, [2]string{header.Key, string(header.Value)})
	}
	more := fields{"partition": r.Partition, "offset": r.Offset, "headers": headers, "key": nil, "value": nil}
	if r.Key != nil {
		more["key"] = string(r.Key)
	}
	if r.Value != nil {
		more["value"] = string(r.Value)
	}
	tell("record", more)
}

func produce(ctx context.Context) {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	producer := client(
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codecs[options.Codec]),
		kgo.ProducerLinger(20*time.Millisecond),
	)
	defer producer.Close()
	for _, one := range options.Records {
		sent := &kgo.Record{Topic: options.Topic, Partition: one.Partition, Key: []byte(one.Key), Value: []byte(one.Value)}
		for _, header := range one.Headers {
			sent.Headers = append(sent.Headers, kgo.RecordHeader{Key: header[0], Value: []byte(header[1])})
		}
		producer.Produce(ctx, sent, func(r *kgo.Record, err error) {
			check(err)
			tell("delivered", fields{"partition": r.Partition, "offset": r.Offset, "value": string(r.Value)})
		})
	}
	check(producer.Flush(ctx))
}

func balancer() kgo.GroupBalancer {
	return map[string]kgo.GroupBalancer{
		"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
	}[options.Assignor]
}

func group(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		end()
	}()
	owned := map[[2]any]bool{}
	tellOwned := func() {
		pairs := [][2]any{}
		for pair := range owned {
			pairs = append(pairs, pair)
		}
		sort.Slice(pairs, func(i, j int) bool { return pairs[i][1].(int32) < pairs[j][1].(int32) })
		tell("assigned", fields{"partitions": pairs})
	}
	change := func(partitions map[string][]int32, isOwned bool) {
		for topic, numbers := range partitions {
			for _, number := range numbers {
				if isOwned {
					owned[[2]any{topic, number}] = true
				} else {
					delete(owned, [2]any{topic, number})
				}
			}
		}
		tellOwned()
	}
	// A rebalance waits for the records of a poll, and what was polled is committed before partitions are given up.
	member := client(
		kgo.ConsumerGroup(options.Group), kgo.ConsumeTopics(options.Topic), kgo.Balancers(balancer()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.HeartbeatInterval(100*time.Millisecond), kgo.SessionTimeout(10*time.Second),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) { change(added, true) }),
		kgo.OnPartitionsRevoked(func(_ context.Context, c *kgo.Client, gone map[string][]int32) {
			check(c.CommitUncommittedOffsets(context.Background()))
			change(gone, false)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
			tell("lost", nil)
			change(gone, false)
		}),
	)
	for ctx.Err() == nil {
		fetches := member.PollFetches(ctx)
		for _, failed := range fetches.Errors() {
			if ctx.Err() == nil {
				check(failed.Err)
			}
		}
		fetches.EachRecord(tellRecord)
		member.AllowRebalance()
	}
	check(member.CommitUncommittedOffsets(context.Background()))
	member.Close()
	tell("closed", nil)
}

// Reads so many records of one partition from an offset on, without a group.
func consume(ctx context.Context) {
	from := map[string]map[int32]kgo.Offset{options.Topic: {options.Partition: kgo.NewOffset().At(options.Offset)}}
	reader := client(kgo.ConsumePartitions(from))
	defer reader.Close()
	for left := options.Count; left > 0; {
		fetches := reader.PollRecords(ctx, left)
		check(fetches.Err())
		fetches.EachRecord(tellRecord)
		left -= fetches.NumRecords()
	}
}

// Two groups in a chain, as in franz-go's own TestGroupETL: the first copies one topic to another, the second reads that. Members of
// both join at the same time, and one of each leaves while the others are at work.
func chain(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var working sync.WaitGroup
	var counting sync.Mutex
	copied, read := 0, 0
	done := make(chan struct{})
	member := func(name, topic string, each func(*kgo.Client, *kgo.Record), most int) {
		defer working.Done()
		c := client(
			kgo.ConsumerGroup(options.Group+name), kgo.ConsumeTopics(topic), kgo.Balancers(balancer()),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
			kgo.HeartbeatInterval(100*time.Millisecond), kgo.SessionTimeout(10*time.Second),
			kgo.OnPartitionsRevoked(func(_ context.Context, c *kgo.Client, _ map[string][]int32) {
				check(c.CommitUncommittedOffsets(context.Background()))
			}),
			kgo.OnPartitionsLost(func(context.Context, *kgo.Client, map[string][]int32) { tell("lost", nil) }),
		)
		for seen := 0; ctx.Err() == nil && seen < most; {
			fetches := c.PollRecords(ctx, 50)
			fetches.EachRecord(func(r *kgo.Record) { each(c, r) })
			seen += fetches.NumRecords()
			c.AllowRebalance()
		}
		check(c.CommitUncommittedOffsets(context.Background()))
		c.Close()
	}
	forward := func(c *kgo.Client, r *kgo.Record) {
		onward := &kgo.Record{Topic: options.Onward, Key: r.Key, Value: r.Value}
		check(c.ProduceSync(context.Background(), onward).FirstErr())
		counting.Lock()
		copied++
		counting.Unlock()
	}
	take := func(_ *kgo.Client, r *kgo.Record) {
		tellRecord(r)
		counting.Lock()
		defer counting.Unlock()
		if read++; read == options.Count {
			close(done)
		}
	}
	for i := 0; i < options.Members; i++ {
		most := 1 << 30
		if i == 0 {
			most = 100 // this one leaves early
		}
		working.Add(2)
		go member("-copy", options.Topic, forward, most)
		go member("-read", options.Onward, take, most)
	}
	<-done
	end()
	working.Wait()
	tell("done", fields{"copied": copied, "read": read})
}

func admin(ctx context.Context) {
	c := client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MetadataMinAge(10*time.Millisecond))
	defer c.Close()
	adm := kadm.NewClient(c)
	topic := options.Topic
	small := "1000"
	created, err := adm.CreateTopic(ctx, 2, 1, map[string]*string{"max.message.bytes": &small}, topic)
	check(err)
	tell("created", fields{"partitions": created.NumPartitions, "hasId": created.ID != kadm.TopicID{}})
	_, err = adm.CreateTopic(ctx, 2, 1, nil, topic)
	tell("created twice", fields{"error": code(err)})
	_, err = adm.CreatePartitions(ctx, 1, topic)
	check(err)
	topics, err := adm.ListTopics(ctx)
	check(err)
	tell("topics", fields{"partitions": len(topics[topic].Partitions), "sameId": topics[topic].ID == created.ID})

	results := []string{}
	for _, one := range []struct {
		value string
		time  int64
	}{{strings.Repeat("x", 5000), 500}, {"a", 1000}, {"b", 2000}, {"c", 3000}} {
		sent := &kgo.Record{Topic: topic, Partition: 0, Value: []byte(one.value), Timestamp: time.UnixMilli(one.time)}
		results = append(results, code(c.ProduceSync(ctx, sent).FirstErr()))
	}
	tell("produced", fields{"results": results})
	at := []int64{}
	for _, time := range []int64{0, 1001, 3000, 3001} {
		offsets, err := adm.ListOffsetsAfterMilli(ctx, time, topic)
		check(err)
		found, _ := offsets.Lookup(topic, 0)
		check(found.Err)
		at = append(at, found.Offset)
	}
	starts, err := adm.ListStartOffsets(ctx, topic)
	check(err)
	ends, err := adm.ListEndOffsets(ctx, topic)
	check(err)
	first, _ := starts.Lookup(topic, 0)
	last, _ := ends.Lookup(topic, 0)
	tell("offsets", fields{"at": at, "start": first.Offset, "end": last.Offset})

	names := []string{options.Group + "-1", options.Group + "-2", options.Group + "-3"}
	for i, name := range names {
		var offsets kadm.Offsets
		offsets.Add(kadm.Offset{Topic: topic, Partition: 0, At: int64(i), LeaderEpoch: -1, Metadata: "note " + name})
		check(adm.CommitAllOffsets(ctx, name, offsets))
	}
	fresh := client() // knows no coordinator yet, so it asks for all at once
	defer fresh.Close()
	many := kadm.NewClient(fresh).FetchManyOffsets(ctx, names...)
	committed := []string{}
	for _, name := range names {
		check(many[name].Err)
		found, _ := many[name].Fetched.Lookup(topic, 0)
		committed = append(committed, fmt.Sprint(found.At, " ", found.Metadata))
	}
	tell("committed", fields{"committed": committed})
	listed, err := adm.ListGroups(ctx)
	check(err)
	tell("groups", fields{"groups": listed.Groups()})
	described, err := adm.DescribeGroups(ctx, names...)
	check(err)
	tell("described", fields{"state": described[names[0]].State})
	lags, err := adm.Lag(ctx, names...)
	check(err)
	tell("lag", fields{"total": lags[names[1]].Lag.Total()})
	deleted, err := adm.DeleteGroups(ctx, names...)
	check(err)
	check(deleted.Error())
	_, err = adm.DeleteRecords(ctx, kadm.Offsets{topic: {0: {Topic: topic, Partition: 0, At: 2}}})
	check(err)
	starts, err = adm.ListStartOffsets(ctx, topic)
	check(err)
	first, _ = starts.Lookup(topic, 0)
	tell("after deletion", fields{"start": first.Offset})
	_, err = adm.DeleteTopic(ctx, topic)
	check(err)
	left, err := adm.ListTopics(ctx)
	check(err)
	tell("left", fields{"topics": left.Names()})
}

func code(err error) string {
	if err == nil {
		return "ok"
	}
	if kerr.IsRetriable(err) {
		return "retriable " + err.Error()
	}
	return strings.SplitN(err.Error(), ":", 2)[0]
}

func main() {
	if err := json.Unmarshal([]byte(os.Args[2]), &options); err != nil {
		check(err)
	}
	ctx, end := context.WithTimeout(context.Background(), 90*time.Second)
	defer end()
	map[string]func(context.Context){
		"produce": produce, "group": group, "consume": consume, "chain": chain, "admin": admin,
	}[os.Args[1]](ctx)
}
