//go:build linux

package disk

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount shows the disk in an existing directory, and turns its power on. The
// process that mounts a disk must not use its files: it would wait for itself.
func (d *Disk) Mount(dir string) (unmount func() error, err error) {
	d.mutex.Lock()
	d.off = false
	d.mutex.Unlock()
	forever := time.Hour // nobody else changes the files
	server, err := fs.Mount(dir, &directory{disk: d}, &fs.Options{
		EntryTimeout: &forever,
		AttrTimeout:  &forever,
		MountOptions: fuse.MountOptions{
			FsName:                   "plural-soak",
			DirectMountStrict:        os.Geteuid() == 0,
			DisableXAttrs:            true,
			ExplicitDataCacheControl: true,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("a FUSE file system cannot be mounted (this takes /dev/fuse, and to be root or to have fusermount3 of the package fuse3): %w", err)
	}
	return func() error { return unmounted(server) }, nil
}

// unmounted waits for the kernel to let go of the files of a process that has
// just ended.
func unmounted(server *fuse.Server) error {
	deadline := time.Now().Add(5 * time.Minute)
	for {
		err := server.Unmount()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// directory is the root, and the only directory.
type directory struct {
	fs.Inode
	disk *Disk
}

// node is a file.
type node struct {
	fs.Inode
	disk *Disk
	file *file
}

func (d *directory) child(ctx context.Context, f *file, out *fuse.EntryOut) *fs.Inode {
	fill(f, &out.Attr)
	return d.NewInode(ctx, &node{disk: d.disk, file: f}, fs.StableAttr{Mode: syscall.S_IFREG, Ino: f.ino})
}

func fill(f *file, out *fuse.Attr) {
	out.Mode = syscall.S_IFREG | 0o644
	out.Nlink = 1
	out.Size = uint64(len(f.data))
	out.Blocks = (out.Size + 511) / 512
	out.Uid, out.Gid = uint32(os.Geteuid()), uint32(os.Getegid())
}

// Lookup implements fs.NodeLookuper.
func (d *directory) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	d.disk.mutex.Lock()
	defer d.disk.mutex.Unlock()
	f := d.disk.names[name]
	if f == nil {
		return nil, syscall.ENOENT
	}
	return d.child(ctx, f, out), 0
}

// Readdir implements fs.NodeReaddirer.
func (d *directory) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	d.disk.mutex.Lock()
	defer d.disk.mutex.Unlock()
	var entries []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(d.disk.names)) {
		entries = append(entries, fuse.DirEntry{Name: name, Mode: syscall.S_IFREG, Ino: d.disk.names[name].ino})
	}
	return fs.NewListDirStream(entries), 0
}

// Create implements fs.NodeCreater.
func (d *directory) Create(ctx context.Context, name string, flags, _ uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	d.disk.mutex.Lock()
	defer d.disk.mutex.Unlock()
	d.disk.lastIno++
	f := &file{ino: 1000 + d.disk.lastIno}
	if errno := d.disk.rename(renaming{name: f}); errno != 0 {
		return nil, nil, 0, errno
	}
	d.disk.opened = append(d.disk.opened, Opening{name, int(flags), true})
	return d.child(ctx, f, out), nil, caching(name), 0
}

// caching says how the kernel treats an open file. Through its page cache it would split a write
// at the bounds of pages, and if a later part fails, tell the program that fewer bytes were written, and
// nothing of an error. Memory can be shared through the page cache only.
func caching(name string) uint32 {
	if strings.HasSuffix(name, "-shm") {
		return fuse.FOPEN_KEEP_CACHE
	}
	return fuse.FOPEN_DIRECT_IO
}

// Unlink implements fs.NodeUnlinker.
func (d *directory) Unlink(_ context.Context, name string) syscall.Errno {
	d.disk.mutex.Lock()
	defer d.disk.mutex.Unlock()
	return d.disk.rename(renaming{name: nil})
}

// Rename implements fs.NodeRenamer.
func (d *directory) Rename(_ context.Context, name string, _ fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	d.disk.mutex.Lock()
	defer d.disk.mutex.Unlock()
	if flags != 0 {
		return syscall.EINVAL
	}
	if name == newName {
		return 0
	}
	return d.disk.rename(renaming{name: nil, newName: d.disk.names[name]})
}

// Fsync implements fs.NodeFsyncer.
func (d *directory) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d.disk.mutex.Lock()
	defer d.disk.mutex.Unlock()
	return d.disk.syncNames()
}

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mutex.Lock()
	defer n.disk.mutex.Unlock()
	fill(n.file, &out.Attr)
	return 0
}

// Setattr implements fs.NodeSetattrer. All that is kept of a file is its size.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.disk.mutex.Lock()
	defer n.disk.mutex.Unlock()
	if size, ok := in.GetSize(); ok {
		if errno := n.disk.truncate(n.file, int64(size)); errno != 0 {
			return errno
		}
	}
	fill(n.file, &out.Attr)
	return 0
}

// Open implements fs.NodeOpener.
func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	n.disk.mutex.Lock()
	defer n.disk.mutex.Unlock()
	name := n.disk.nameOf(n.file)
	n.disk.opened = append(n.disk.opened, Opening{name, int(flags), false})
	return nil, caching(name), 0
}

// Read implements fs.NodeReader.
func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mutex.Lock()
	defer n.disk.mutex.Unlock()
	read := 0
	if offset < int64(len(n.file.data)) {
		read = copy(dest, n.file.data[offset:])
	}
	return fuse.ReadResultData(dest[:read]), 0
}

// Write implements fs.NodeWriter.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.disk.mutex.Lock()
	defer n.disk.mutex.Unlock()
	written, errno := n.disk.write(n.file, data, offset)
	return uint32(written), errno
}

// Fsync implements fs.NodeFsyncer. It takes about as long as on a real disk: most
// of the time a busy server waits for one, and that is when the power should go.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	time.Sleep(time.Millisecond)
	n.disk.mutex.Lock()
	defer n.disk.mutex.Unlock()
	return n.disk.sync(n.file)
}
