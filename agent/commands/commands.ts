import type { Host } from '../host/host.ts'
import type { CommandName, Input, Output } from '../protocol/wire.ts'

/** The implementation of each command: it converges on `input`, and throws `Failure` when the node cannot do it. */
export type Commands = { [N in CommandName]: (input: Input<N>, host: Host) => Promise<Output<N>> }
