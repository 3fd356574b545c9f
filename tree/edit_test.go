package tree

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestApplyRefuses(t *testing.T) {
	put := func(k string) Edit { return Edit{Key: []byte(k)} }
	span := func(lo, hi string) Edit { return Edit{Key: []byte(lo), To: []byte(hi), Delete: true} }
	long := string(bytes.Repeat([]byte{'k'}, MaxKey+1))
	s, c := newStore(), NewCache(1<<20)
	for _, tr := range []*Tree{Empty(s, c), numbered(t, s, c, 500)} {
		for i, bad := range []struct {
			batch []Edit
			want  error
		}{
			{[]Edit{put("")}, ErrTooLarge},
			{[]Edit{put(long)}, ErrTooLarge},
			{[]Edit{{Key: []byte("k"), Value: make([]byte, MaxValue+1)}}, ErrTooLarge},
			{[]Edit{{Key: nil, Delete: true}}, ErrTooLarge},
			{[]Edit{span("a", long+"k")}, ErrTooLarge},
			{[]Edit{{Key: []byte("a"), To: []byte("b")}}, ErrOrder},
			{[]Edit{span("b", "a")}, ErrOrder},
			{[]Edit{put("b"), put("a")}, ErrOrder},
			{[]Edit{put("a"), put("a")}, ErrOrder},
			{[]Edit{put("a"), span("a", "b")}, ErrOrder},
			{[]Edit{span("a", "b"), span("a", "b")}, ErrOrder},
			{[]Edit{span("a", "c"), span("b", "d")}, ErrOrder},
			{[]Edit{span("a", "d"), put("b"), span("c", "e")}, ErrOrder},
		} {
			if got, err := tr.Apply(ctx, bad.batch); !errors.Is(err, bad.want) {
				t.Errorf("batch %d: %v, %v; want %v", i, got, err, bad.want)
			}
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for i, bad := range []struct {
		keys []string
		want error
	}{
		{[]string{""}, ErrTooLarge},
		{[]string{"b", "a"}, ErrOrder},
		{[]string{"a", "a"}, ErrOrder},
	} {
		i0 := -1
		_, err := Build(ctx, newStore(), NewCache(0), func() (k, v []byte, ok bool) {
			if i0++; i0 == len(bad.keys) {
				return nil, nil, false
			}
			return []byte(bad.keys[i0]), nil, true
		})
		if !errors.Is(err, bad.want) {
			t.Errorf("%d: %v, want %v", i, err, bad.want)
		}
	}
}

// What a batch removes with a range is what was there before; edits inside it
// apply to the rest.
func TestEditsInsideRanges(t *testing.T) {
	s, c := newStore(), NewCache(1<<20)
	m := model{}
	for i := range 1000 {
		m[fmt.Sprintf("%04d", i)] = "old"
	}
	tr := m.build(t, s, c)
	batch := []Edit{
		{Key: []byte("0000"), To: []byte("0100"), Delete: true},
		{Key: []byte("0000"), Value: []byte("new")}, // at its start
		{Key: []byte("0050"), Delete: true},
		{Key: []byte("0051"), Value: []byte("new")},
		{Key: []byte("0099"), Value: []byte("new")}, // its last key
		{Key: []byte("0100"), Value: []byte("new")}, // beyond it
		{Key: []byte("0500"), To: []byte("0500"), Delete: true},
		{Key: []byte("0500"), Value: []byte("new")},
		{Key: []byte("0600"), To: KeyEnd(), Delete: true},
		{Key: bytes.Repeat([]byte{0xff}, MaxKey), Value: []byte("new")},
	}
	got, err := tr.Apply(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	m.apply(batch)
	equalsModel(t, got, m)
	if len(m) != 3+500+1 {
		t.Errorf("the model has %d entries", len(m))
	}
}

// Nothing changes, nothing is written.
func TestApplyWithoutEffect(t *testing.T) {
	s, c := newStore(), NewCache(1<<20)
	tr := numbered(t, s, c, 2000)
	v, _, err := tr.Get(ctx, []byte("key 000500"))
	if err != nil {
		t.Fatal(err)
	}
	s.puts = 0
	for i, batch := range [][]Edit{
		nil,
		{{Key: []byte("key 000500"), Value: v}},
		{{Key: []byte("key 000500x"), Delete: true}},
		{{Key: []byte("a"), Delete: true}, {Key: []byte("z"), Delete: true}},
		{{Key: []byte("key 000500x"), To: []byte("key 000501"), Delete: true}},
		{{Key: []byte("z"), To: KeyEnd(), Delete: true}},
		{{Key: []byte("key 000500"), To: []byte("key 000501"), Delete: true}, {Key: []byte("key 000500"), Value: v}},
	} {
		got, err := tr.Apply(ctx, batch)
		if err != nil || got.Root() != tr.Root() || s.puts > 0 {
			t.Errorf("batch %d: root %v, %v, %d nodes written", i, got.Root(), err, s.puts)
		}
	}
}
