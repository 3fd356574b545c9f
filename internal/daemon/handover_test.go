package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestSpecHandover: the page says what the code does, in figures and in names.
func TestSpecHandover(t *testing.T) {
	b, err := os.ReadFile("../../spec/handover.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(b)), " ")
	wants := []string{
		fmt.Sprintf("# Handover, version %d", handoverVersion),
		fmt.Sprintf("`%s=N` and N descriptors from %d on", HandoverEnv, fileConversation),
		fmt.Sprintf("The owner waits %d s for `hello`, %d s for `ready`", helloPatience/time.Second, estatePatience/time.Second),
		fmt.Sprintf("those under way are waited for: %d s", callsPatience/time.Second),
		fmt.Sprintf("those read are answered (%d s", pausePatience/time.Second),
		fmt.Sprintf("at most %d GiB", conversationLimit>>30),
	}
	for _, v := range []any{heirMessage{}, heirHello{}, ownerMessage{}, estate{}, estateMount{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, `"`+name+`"`) {
				wants = append(wants, "the field "+name)
			}
		}
	}
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("spec/handover.md does not say %q", want)
		}
	}
}

// TestEstateTravels: what an estate has arrives.
func TestEstateTravels(t *testing.T) {
	e := estate{Dir: "/d", Data: []byte{0, 255}, Notes: []string{"n"}, Level: -4, StopWait: time.Minute,
		Mounts: []estateMount{{tableEntry{Workspace: "w", MountPoint: "/m\xff", Driver: "go-fuse", AllowOther: true}, time.Unix(1, 2).UTC(), []byte{1}}}}
	b, err := json.Marshal(ownerMessage{Estate: &e})
	if err != nil {
		t.Fatal(err)
	}
	var m ownerMessage
	if err := json.Unmarshal(b, &m); err != nil || !reflect.DeepEqual(*m.Estate, e) {
		t.Errorf("%+v became %+v, %v", e, m.Estate, err)
	}
}
