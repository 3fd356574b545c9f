package protocol

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const specFile = "../spec/protocol.md"

// senders says who sends a message, in the words of the specification.
var senders = map[uint64]string{
	idHello: "C", idWelcome: "S", idFailure: "B", idPing: "B", idPong: "B", idCredit: "B", idFetch: "C", idOffer: "S",
	idPush: "C", idCommits: "X", idEdits: "X", idWant: "R", idItems: "X", idLacks: "X", idDone: "C", idResult: "S",
	idWatch: "C", idHead: "S", idGet: "C", idCancel: "C", idBye: "B",
}

var codeMeanings = map[Code]string{
	CodeProtocol: "a message that may not come, or not now, or is malformed", CodeLimit: "a limit was exceeded",
	CodeVersion: "no common version", CodeDenied: "the token does not give the right",
	CodeExpired:  "the token is not valid any more: its time is over, it was used up or taken back",
	CodeNotFound: "no such workspace, commit, node or chunk", CodeHeadMoved: "the head is another commit than expected",
	CodeNoBase: "the base is not here: walk", CodeDigest: "bytes that do not hash to what was asked for",
	CodeRoot:    "the delta does not lead to the announced root",
	CodeInvalid: "bytes with the right digest that the formats do not allow", CodeRefused: "quota, space, policy",
	CodeTimeout: "too slow, or silent", CodeInternal: "a failure of the end that reports it",
	CodeBusy: "too many sessions or requests: try later", CodeCanceled: "the request is not wanted any more",
	CodeUnsupported: "that is not served",
}

// describer is a visitor that writes fields as the table has them.
type describer []string

func (d *describer) add(format string, args ...any) { *d = append(*d, fmt.Sprintf(format, args...)) }

func (d *describer) uint(name string, _ *uint64, max uint64) {
	if max == anyUint {
		d.add("%s uint", name)
		return
	}
	d.add("%s uint <= %d", name, max)
}
func (d *describer) bool(name string, _ *bool)                { d.add("%s bool", name) }
func (d *describer) digest(name string, _ *ID)                { d.add("%s id", name) }
func (d *describer) ids(name string, _ *[]ID, max int)        { d.add("%s ids, at most %d", name, max) }
func (d *describer) text(name string, _ *string, max int)     { d.add("%s text <= %d", name, max) }
func (d *describer) bytes(name string, _ *[]byte, max int)    { d.add("%s bytes <= %d", name, max) }
func (d *describer) payload(name string, _ *Payload, max int) { d.add("%s payload <= %d", name, max) }

func messagesTable() string {
	var b strings.Builder
	b.WriteString("\n| | message | from | fields |\n|---:|---|---|---|\n")
	for id, mk := range makers {
		if mk == nil {
			continue
		}
		var d describer
		m := mk()
		m.fields(&d)
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", id, nameOf(m), senders[uint64(id)], strings.Join(d, "; "))
	}
	return b.String() + "\n"
}

func codesTable() string {
	var b strings.Builder
	b.WriteString("\n| | code | meaning |\n|---:|---|---|\n")
	for c := Code(1); codeNames[c] != ""; c++ {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", uint64(c), c, codeMeanings[c])
	}
	return b.String() + "\n"
}

func limitsTable() string {
	rows := []struct {
		what  string
		value any
		unit  string
	}{
		{"body of a frame before the session is open", maxOpening, "bytes"},
		{"body of any other frame", maxBody, "bytes"},
		{"size of a payload", maxRaw, "bytes"},
		{"chunk", maxChunk, "bytes (packs.md)"},
		{"tree node", maxNode, "bytes (tree.md)"},
		{"record of a commit", maxCommit, "bytes (workspace.md)"},
		{"parents of a commit", maxParents, "(workspace.md)"},
		{"key", maxKey, "bytes (tree.md)"},
		{"value", maxValue, "bytes (tree.md)"},
		{"levels of a tree", maxLevels, "(tree.md)"},
		{"size of the payload of `edits`", maxPart, "bytes"},
		{"edits in a message", maxEdits, ""},
		{"ids in a message", maxIDs, ""},
		{"bases in a fetch", maxBases, ""},
		{"ids that were asked for and not answered, a session", maxWanted, ""},
		{"requests open at a time, a session", maxRequests, ""},
		{"of them fetches, and of them pushes", maxImports, ""},
		{"commits in a transfer; history ends there", maxRecords, ""},
		{"the same in bytes", maxRecordSize, "bytes"},
		{"nodes above the leaves in a walk", maxInner, ""},
		{"chunks ahead, a transfer", maxAhead, "bytes"},
		{"answers that a peer leaves unread", maxControl, "bytes"},
		{"credit of a class", maxWindow, "bytes"},
		{"frame cost", frameCost, "bytes of credit besides the payload"},
		{"time from the connection to `hello`", int(helloTime.Seconds()), "seconds"},
		{"time from `hello` to `welcome`", int(welcomeTime.Seconds()), "seconds"},
		{"time of a frame, first byte to last", int(frameTime.Seconds()), "seconds"},
		{"silence before a ping", int(pingAfter.Seconds()), "seconds"},
		{"silence after which a peer is gone", int(silence.Seconds()), "seconds"},
	}
	var b strings.Builder
	b.WriteString("\n| limit | value | |\n|---|---:|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", r.what, r.value, r.unit)
	}
	return b.String() + "\n"
}

// transcripts writes the recorded sessions for people.
func transcripts(t *testing.T) string {
	var b strings.Builder
	for _, v := range sessionVectors(t) {
		fmt.Fprintf(&b, "\n### %s\n\n%s. It ends by `%s`.\n\n", v.Name, strings.ToUpper(v.About[:1])+v.About[1:], v.Ends)
		for _, s := range v.Steps {
			arrow := "C -> S"
			if s.From == "server" {
				arrow = "S -> C"
			}
			body := decodeHex(t, s.Frame)
			m, err := DecodeBody(body[frameHeader:])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "    %s  %-8s %4d bytes  %s\n", arrow, s.Message, len(body), strings.Join(listFields(m).short, ", "))
		}
	}
	return b.String() + "\n"
}

// TestSpec: the tables and transcripts in the page are those of the code, and
// the prose speaks of every message and every code by its name.
func TestSpec(t *testing.T) {
	b, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for name, fresh := range map[string]string{
		"messages": messagesTable(), "codes": codesTable(), "limits": limitsTable(), "transcripts": transcripts(t),
	} {
		begin := fmt.Sprintf("<!-- %s: go test ./protocol -update -->\n", name)
		before, rest, ok1 := strings.Cut(page, begin)
		old, after, ok2 := strings.Cut(rest, fmt.Sprintf("<!-- end of %s -->\n", name))
		switch {
		case !ok1 || !ok2:
			t.Fatalf("%s has no marks for %s", specFile, name)
		case *update:
			page = before + begin + fresh + fmt.Sprintf("<!-- end of %s -->\n", name) + after
		case old != fresh:
			t.Errorf("the %s in %s are not the code's; -update rewrites them:\n%s", name, specFile, fresh)
		}
	}
	if *update {
		if err := os.WriteFile(specFile, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkProse(t, page)
}

// checkProse takes the generated parts away and looks for what must be said.
func checkProse(t *testing.T, page string) {
	prose := regexp.MustCompile(`(?s)<!-- (messages|codes|limits|transcripts):.*?<!-- end of `).ReplaceAllString(page, "")
	unsaid := map[string]bool{"pong": true} // ping says it
	for _, mk := range makers {
		if mk == nil {
			continue
		}
		if name := nameOf(mk()); !unsaid[name] && !strings.Contains(prose, "`"+name+"`") {
			t.Errorf("the prose does not speak of `%s`", name)
		}
	}
	for c, name := range codeNames {
		if codeMeanings[c] == "" {
			t.Errorf("code %s has no meaning", name)
		}
	}
	for name, value := range map[string]uint64{"zstd": CapZstd, "watch": CapWatch, "lazy": CapLazy} {
		if !strings.Contains(prose, fmt.Sprintf("| %d | %s |", value, name)) {
			t.Errorf("the prose does not have capability %s as %d", name, value)
		}
	}
	if capsKnown != CapZstd|CapWatch|CapLazy || Version != 1 || !strings.HasPrefix(prose, "# Protocol: version 1\n") {
		t.Error("the version or the capabilities are others than the page's")
	}
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{"Kinds: 1 commit, 2 node, 3 chunk.", KindCommit == 1 && KindNode == 2 && KindChunk == 3},
		{"Modes: 0 nothing, 1 delta, 2 walk.", ModeNothing == 0 && ModeDelta == 1 && ModeWalk == 2},
		{"Flag of `fetch`: 1 lazy", FetchLazy == 1},
		{"1 is reading, 2 writing", RightRead == 1 && RightWrite == 2},
		{"1 in `hello`: the workspace may be new", HelloCreate == 1},
		{"the class `tree` (1)", ClassTree == 1}, {"`chunk` (2)", ClassChunk == 2},
	} {
		if !c.ok || !strings.Contains(strings.Join(strings.Fields(prose), " "), c.text) {
			t.Errorf("page and code differ about: %s", c.text)
		}
	}
}
