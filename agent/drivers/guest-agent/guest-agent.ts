/** The bytes of a program's output, or of a file, that are returned at most. */
export const MOST_GUEST_BYTES = 64 << 10
/** The bytes of a file that one call of the agent writes: a larger one blocks it. */
export const CHUNK_BYTES = 48 << 10

/** The system of a guest in its own words, one printable line each; empty where the guest names none. */
export type GuestInfo = {
  agentVersion: string
  hostname: string
  /** `/etc/os-release`: `debian`, `Debian GNU/Linux`, `12 (bookworm)`; on Windows `mswindows`. */
  osId: string
  osName: string
  osVersion: string
  kernel: string
  machine: string
}

/** An interface inside a guest. `addresses` are with prefix length; all is the guest's claim. */
export type GuestInterface = { name: string; mac: string; addresses: string[] }

/** A file system on a disk of a guest; all is the guest's claim. */
export type GuestFileSystem = { path: string; device: string; kind: string; usedBytes: number; totalBytes: number }

/**
 * The result of a program in a guest: `output` is standard output and standard error, at most `MOST_GUEST_BYTES`. It
 * may hold any character: show it as text only.
 */
export type GuestRun = { code: number; output: string; truncated: boolean }

/** A password in the clear, for guests that hash it themselves, or its crypt(3) hash, for Linux. */
export type GuestPassword = { text: string } | { hash: string }

/**
 * The QEMU guest agent inside a running vm, named by its workload's id. The guest controls every answer: lengths are
 * bounded, texts are printable, and no error quotes the guest unescaped. Calls to one guest run one after another.
 *
 * Every method throws `guest_agent_silent` when no agent answers within 5 s, `guest_agent_broken` when its answer makes
 * no sense (libvirt then refuses every later call until the guest opens the port again), `guest_refused` when the
 * agent answers with an error, and `guest_frozen` while the guest's file systems are frozen.
 */
export interface GuestAgent {
  /** True when the agent answers a ping. Never throws. */
  ping(workload: string): Promise<boolean>
  /**
   * Writes what the guest has in memory to its disks and holds further writes back until `thaw`. It may take 10 s; the
   * guest may freeze later than this throws, so `thaw` follows in any case.
   */
  freeze(workload: string): Promise<void>
  /** Lets the guest write again. Answers how many file systems were frozen; 0 when none was. */
  thaw(workload: string): Promise<number>
  /** Sets the password of a user that exists. A user that does not is `guest_refused`. */
  setPassword(workload: string, user: string, password: GuestPassword): Promise<void>
  info(workload: string): Promise<GuestInfo>
  /** At most 64 interfaces with 64 addresses each. What is no address is left out. */
  interfaces(workload: string): Promise<GuestInterface[]>
  /**
   * Its file systems of which it tells how full they are, each once and by its shortest path, the one with that of `/`
   * first; at most 16.
   */
  fileSystems(workload: string): Promise<GuestFileSystem[]>
  /**
   * Runs a program in a Linux guest as root and waits for its end, at most `limitSeconds` (default 30); the program
   * goes on when it takes longer, which throws `guest_timeout`. A program that writes more than fits is ended.
   */
  exec(
    workload: string,
    argv: readonly string[],
    options?: { stdin?: string; limitSeconds?: number },
  ): Promise<GuestRun>
  /**
   * Runs a script in a Windows guest and waits for its end, at most `limitSeconds` (default 30). Throws `guest_timeout`
   * after that, and `guest_refused` when the script fails.
   */
  powershell(workload: string, script: string, options?: { limitSeconds?: number }): Promise<void>
  /** Writes a file, replacing an earlier one, in calls of `CHUNK_BYTES`. Its directory must exist. */
  writeFile(workload: string, path: string, content: Uint8Array): Promise<void>
  /** The first `MOST_GUEST_BYTES` of a file. A file that does not exist is `guest_refused`. */
  readFile(workload: string, path: string): Promise<Uint8Array>
}
