package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		act  func(t *testing.T, dir string)
		want []journal.Change
	}{
		{"nothing", func(t *testing.T, dir string) {}, nil},
		{"a new file in new folders", func(t *testing.T, dir string) { write(t, dir, "x/y/z", "") },
			[]journal.Change{change("x/y/z", journal.Created)}},
		{"other content of the same length, with the time put back", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "a.txt")
			fi, err := os.Stat(path)
			require.NoError(t, err)
			write(t, dir, "a.txt", "A")
			require.NoError(t, os.Chtimes(path, fi.ModTime(), fi.ModTime()))
		}, []journal.Change{change("a.txt", journal.Modified)}},
		{"the same content, written again", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			write(t, dir, "a.txt", "a")
			require.NoError(t, os.Chtimes(filepath.Join(dir, "a.txt"), time.Time{}, time.Unix(1, 0)))
		}, nil},
		{"removed", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, "d"))) },
			[]journal.Change{change("d/b.txt", journal.Deleted), change("d/c.txt", journal.Deleted)}},
		{"moved", func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, "a.txt"), filepath.Join(dir, "d/a.txt")))
		}, []journal.Change{change("a.txt", journal.Deleted), change("d/a.txt", journal.Created)}},
		{"in .git, and ignored", func(t *testing.T, dir string) {
			write(t, dir, ".git/HEAD", "other")
			write(t, dir, "build/out.o", "o")
		}, []journal.Change{change(".git/HEAD", journal.Modified), change("build/out.o", journal.Created)}},
		{"a file made a folder", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			write(t, dir, "a.txt/inner", "")
		}, []journal.Change{change("a.txt", journal.Modified), change("a.txt/inner", journal.Created)}},
		{"an empty folder made and another removed", func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, "new"), 0o755))
			require.NoError(t, os.Remove(filepath.Join(dir, "empty")))
		}, []journal.Change{change("empty", journal.Deleted), change("new", journal.Created)}},
		{"an empty folder filled and another emptied", func(t *testing.T, dir string) {
			write(t, dir, "empty/x", "")
			require.NoError(t, os.Remove(filepath.Join(dir, ".git/HEAD")))
		}, []journal.Change{change(".git/HEAD", journal.Deleted), change("empty/x", journal.Created)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := fresh(t)
			for name, text := range map[string]string{"a.txt": "a", "d/b.txt": "b", "d/c.txt": "c", ".git/HEAD": "ref", ".gitignore": "build/"} {
				write(t, w.Dir(), name, text)
			}
			require.NoError(t, os.Mkdir(filepath.Join(w.Dir(), "empty"), 0o755))
			before := snapshot(t, w)
			c.act(t, w.Dir())
			after := snapshot(t, w)
			assert.Equal(t, c.want, before.Diff(after))
			var back []journal.Change
			for _, ch := range c.want {
				ch.Kind = map[journal.ChangeKind]journal.ChangeKind{
					journal.Created: journal.Deleted, journal.Deleted: journal.Created, journal.Modified: journal.Modified,
				}[ch.Kind]
				back = append(back, ch)
			}
			assert.Equal(t, back, after.Diff(before))
		})
	}
}

func TestDiffOfModesAndLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no bit for executability here")
	}
	w := fresh(t)
	exec, same := write(t, w.Dir(), "exec", "x"), write(t, w.Dir(), "same", "x")
	write(t, w.Dir(), "becomes-link", "x")
	link := filepath.Join(w.Dir(), "link")
	symlink(t, "exec", link)
	symlink(t, ".", filepath.Join(w.Dir(), "loop"))
	symlink(t, "/", filepath.Join(w.Dir(), "everything"))
	before := snapshot(t, w)
	require.NoError(t, os.Chmod(exec, 0o755))
	require.NoError(t, os.Chmod(same, 0o600))
	require.NoError(t, os.Remove(link))
	symlink(t, "same", link)
	require.NoError(t, os.Remove(filepath.Join(w.Dir(), "becomes-link")))
	symlink(t, "exec", filepath.Join(w.Dir(), "becomes-link")) // of the same content
	assert.Equal(t, []journal.Change{
		change("becomes-link", journal.Modified), change("exec", journal.Modified), change("link", journal.Modified),
	}, before.Diff(snapshot(t, w)))
}

func TestStrangeNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the file system takes no such names")
	}
	w, src := fresh(t), t.TempDir()
	names := []string{" ", "a\nb", "\xff\xfe", "a\\b", "-rf", "\x1b[31m", "ä", "a\u0308", strings.Repeat("n", 255)}
	empty := snapshot(t, w)
	for _, n := range names {
		write(t, src, n, n)
		write(t, filepath.Join(src, "d"+n[:1]), n, n)
	}
	require.NoError(t, w.CopyDir(src))
	changes := empty.Diff(snapshot(t, w))
	assert.Len(t, changes, 2*len(names))
	assert.Contains(t, changes, change("a\nb", journal.Created))
	assert.Contains(t, changes, change("\xff\xfe", journal.Created))
	dest := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, w.keep(dest, exdev))
	assert.Equal(t, "\xff\xfe", content(t, dest, "\xff\xfe"))
}

// TestFilesThatComeAndGoMeanwhile holds a snapshot against a tree that never stands still.
func TestFilesThatComeAndGoMeanwhile(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	write(t, w.Dir(), "stays", "s")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				dir := filepath.Join(w.Dir(), fmt.Sprintf("d%d-%d", n, i%5), "sub")
				os.MkdirAll(dir, 0o755)
				for k := range 5 {
					os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), []byte("x"), 0o644)
				}
				os.Symlink("stays", filepath.Join(dir, "link"))
				os.RemoveAll(filepath.Dir(dir))
			}
		})
	}
	for range 50 {
		s, err := w.Snapshot(context.Background())
		if !assert.NoError(t, err) {
			break
		}
		assert.Contains(t, s.entries, "stays")
	}
	close(stop)
	wg.Wait()
	assert.Empty(t, w.Notes())
}

func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("every file can be read")
	}
	w := fresh(t)
	locked, touched := write(t, w.Dir(), "locked", "x"), write(t, w.Dir(), "touched", "x")
	write(t, w.Dir(), "dir/inner", "x")
	require.NoError(t, os.Chmod(locked, 0))
	require.NoError(t, os.Chmod(touched, 0))
	require.NoError(t, os.Chmod(filepath.Join(w.Dir(), "dir"), 0))
	before := snapshot(t, w)
	assert.Len(t, w.Notes(), 3)
	require.NoError(t, os.Chtimes(touched, time.Time{}, time.Unix(1, 0)))
	assert.Equal(t, []journal.Change{change("touched", journal.Modified)}, before.Diff(snapshot(t, w)))
}

func TestSparseFileDoesNotHold(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	huge := write(t, w.Dir(), "huge", "")
	if err := os.Truncate(huge, 1<<42); err != nil {
		t.Skip("the file system makes no such file: ", err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the file is not sparse")
	}
	before := snapshot(t, w)
	assert.Len(t, w.Notes(), 1)
	assert.Empty(t, before.Diff(snapshot(t, w)))
	require.NoError(t, os.Truncate(huge, 1<<42+1))
	assert.Equal(t, []journal.Change{change("huge", journal.Modified)}, before.Diff(snapshot(t, w)))
}

func TestSnapshotOfNothing(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	assert.Empty(t, Snapshot{}.Diff(snapshot(t, w)))
	require.NoError(t, w.Remove())
	_, err := w.Snapshot(context.Background())
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func BenchmarkSnapshot10kFiles(b *testing.B) {
	w := fresh(b)
	for i := range 10_000 {
		write(b, w.Dir(), fmt.Sprintf("pkg%d/file%d.go", i%100, i), strings.Repeat(fmt.Sprint(i), 400))
	}
	before := snapshot(b, w)
	write(b, w.Dir(), "pkg1/file1.go", "other")
	b.ReportAllocs()
	for b.Loop() {
		require.Len(b, before.Diff(snapshot(b, w)), 1)
	}
}
