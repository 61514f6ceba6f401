// Joins its standard input and output with the unix socket at a path, in the place of a session of SSH.
//   bun wire.ts PATH
import { relay } from '../../../agent/drivers/transfer/ssh/relay.ts'
import { connectTo } from '../../../agent/drivers/transfer/ssh/sockets.ts'

const file = connectTo(process.argv[2]!)
if (file === undefined) process.exit(1)
relay(file, () => true)
process.exit()
