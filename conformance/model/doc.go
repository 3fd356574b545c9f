// Package model drives two directories through the same random history and
// compares them after every step: what each call answers, and what the trees
// look like. One is usually on ext4, the other under test.
//
//	f, err := model.Run(ctx, model.Options{A: "/ext4/dir", B: "/mnt/dir", Seed: 7, Steps: 2000})
//	if f != nil {
//		fmt.Println(f.Script()) // the shortest history found that still fails, as a shell script
//	}
//
// A seed decides the whole history, so a failure can be had again.
package model
