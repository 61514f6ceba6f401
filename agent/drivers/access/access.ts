import type { Container } from '../../protocol/gpu.ts'

/** A file or directory of the host that an instance sees at `target`. */
export type Mount = { source: string; target: string; readOnly: boolean }

/** A network of the host's that one instance alone has, with its IPv4 address and its MAC address there. */
export type InstanceNetwork = {
  name: string
  /** The bridge that carries it. */
  interface: string
  subnet: string
  gateway: string
  address: string
  mac: string
}

/** Everything that an instance gets so that it can be reached. */
export type Fittings = {
  mounts: readonly Mount[]
  /**
   * The first program of the instance, as its root: the image's user follows, and then the command, which it becomes.
   * Empty: the command alone.
   */
  wrapper: readonly string[]
  environment: Readonly<Record<string, string>>
  network: InstanceNetwork
  nameServers: readonly string[]
}

/** Runs a program inside an instance, as its root, and answers its exit code. */
export type RunInside = (command: readonly string[]) => Promise<number>

/** The ways into an instance and out of it: SSH and its keys, Jupyter, addresses and ports. */
export interface Access {
  /** Sentences for the operator about what the host lacks, each with its remedy. */
  problems(): Promise<string[]>
  /** Prepares the host. Converges on the container. Throws `port_taken`, `ssh_kit`, `instance_network`. */
  fit(container: Container, jupyterToken: string | undefined): Promise<Fittings>
  /**
   * Puts the rules of its network into force: before each start, also after a reboot of the host. Throws
   * `instance_network`.
   */
  open(workload: string): Promise<void>
  /** Leads its own address to it; after each start. */
  started(workload: string): Promise<void>
  /** Ends that: after it has ended. */
  closed(workload: string): Promise<void>
  /**
   * From now on these keys may log in, and no others. `inside` of a running instance also ends the sessions of keys
   * that are not among them.
   */
  setKeys(workload: string, keys: readonly string[], inside?: RunInside): Promise<void>
  /** True when its SSH server greets within a second. */
  answers(workload: string): Promise<boolean>
  /** Closes its ports and its address; without it nothing happens. Its host key stays for the next container. */
  remove(workload: string): Promise<void>
  /** Deletes its host key and keys too. */
  forget(workload: string): Promise<void>
  /** The addresses that instances have for themselves. */
  addresses(): Promise<{ workload: string; address: string }[]>
  /** Puts the rules of every instance into force. Answers whether they were not. */
  ensure(): Promise<boolean>
}
