package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Containment is what this system gives to hold a command and its descendants together: "pid namespace", "subreaper", "process
// group" or "job object".
func Containment() string { return "job object" }

// Sweep has nothing to do: a job ends with the last handle to it, and so with its owner.
func Sweep() {}

// job is a command in a job object. The only handle is ours: when this process ends, in whatever way, Windows ends the
// job.
type job struct {
	handle  windows.Handle
	process *os.Process
	once    sync.Once
	closing atomic.Bool
	ended   chan struct{} // the command itself
}

func start(c Command, path string) (*Process, error) {
	p, stdin, stdout, stderr, err := newProcess(c)
	if err != nil {
		return nil, err
	}
	defer closeAll(stdin, stdout, stderr)
	j, err := startJob(c, path, stdin, stdout, stderr)
	if err != nil {
		closeAll(p.in, p.out.f, p.errPipe)
		return nil, fmt.Errorf("proc: start %s: %w", c.Path, err)
	}
	p.backend, p.containment = j, Containment()
	p.copyStderr(c.Stderr)
	go func() {
		defer close(j.ended)
		switch state, err := j.process.Wait(); {
		case err != nil:
			p.finish(ExitStatus{Code: -1, Lost: err.Error()})
		case j.closing.Load():
			p.finish(ExitStatus{Code: -1, Signal: syscall.SIGKILL})
		default:
			p.finish(ExitStatus{Code: state.ExitCode()})
		}
	}()
	return p, nil
}

func startJob(c Command, path string, stdin, stdout, stderr *os.File) (*job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		windows.CloseHandle(handle)
		return nil, fmt.Errorf("set up the job object: %w", err)
	}
	// Suspended, or it could start others before it is in the job.
	process, err := os.StartProcess(path, append([]string{c.Path}, c.Args...), &os.ProcAttr{
		Dir: c.Dir, Env: marked(c.Env, fmt.Sprint(os.Getpid())), Files: []*os.File{stdin, stdout, stderr},
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(handle)
		return nil, err
	}
	if err := adopt(handle, process.Pid); err != nil {
		process.Kill()
		_, _ = process.Wait() // err is the reason
		windows.CloseHandle(handle)
		return nil, err
	}
	return &job{handle: handle, process: process, ended: make(chan struct{})}, nil
}

// adopt puts a suspended process into the job and lets it run.
func adopt(handle windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return fmt.Errorf("open the process: %w", err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(handle, h); err != nil {
		return fmt.Errorf("assign the process to its job: %w", err)
	}
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != uint32(pid) {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open the first thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		return err
	}
	return errors.New("the process has no thread to resume")
}

func (j *job) pid() int { return j.process.Pid }

func (j *job) signal(sig os.Signal) error {
	if sig == os.Interrupt {
		// The command leads a process group, of which its pid is the number. CTRL_C is ignored there.
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(j.process.Pid))
	}
	return j.process.Signal(sig)
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	TotalUserTime, TotalKernelTime, ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime int64
	TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses     uint32
}

func (j *job) end() (err error) {
	j.once.Do(func() {
		j.closing.Store(true)
		err = j.terminate()
	})
	return err
}

func (j *job) terminate() error {
	defer windows.CloseHandle(j.handle)
	if err := windows.TerminateJobObject(j.handle, 1); err != nil {
		return fmt.Errorf("end the job: %w", err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		var a accounting
		if err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
			uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil); err != nil {
			return fmt.Errorf("count the job's processes: %w", err)
		}
		if a.ActiveProcesses == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes could not be ended", a.ActiveProcesses)
		}
	}
	select {
	case <-j.ended:
		return nil
	case <-time.After(2 * time.Second):
		return errors.New("the command does not end")
	}
}

func hasSeparator(name string) bool { return strings.ContainsAny(name, `\/:`) }

// executable tries the extensions of env's PATHEXT.
func executable(path string, env []string) (string, bool) {
	exts, ok := lookup(env, "PATHEXT")
	if !ok {
		exts = ".com;.exe;.bat;.cmd"
	}
	try := []string{}
	if filepath.Ext(path) != "" {
		try = append(try, path)
	}
	for ext := range strings.SplitSeq(exts, ";") {
		try = append(try, path+ext)
	}
	for _, f := range try {
		if info, err := os.Stat(f); err == nil && !info.IsDir() {
			return f, true
		}
	}
	return "", false
}

// Abandoned is nil: the end of the go command is not noticed here.
func Abandoned() error { return nil }
