// An agent that copies, for tests that kill it: prints how far it is. `copying-agent.ts DIR POOL-DIR COPYING`.
import { join } from 'node:path'
import { loggingTo } from '../../../../agent/controller-link/job-log.ts'
import { SshSourceCopies } from '../../../../agent/drivers/source-host/ssh-source-copies.ts'
import { SshSourceHosts } from '../../../../agent/drivers/source-host/ssh-source-hosts.ts'
import { SshSourceServers } from '../../../../agent/drivers/source-host/ssh-source-servers.ts'
import { FilePool } from '../../../../agent/drivers/storage/file.ts'

const [dir = '', poolDir = '', copying = ''] = process.argv.slice(2)
const servers = new SshSourceServers(new SshSourceHosts(join(dir, 'source-hosts')))
const copies = new SshSourceCopies(servers, join(dir, 'source-copies'))
const job = { line: () => {}, progress: (percent: number) => process.stdout.write(`${percent}\n`) }
await loggingTo(job, () => copies.copy({ ...JSON.parse(copying), pool: new FilePool('local', poolDir) }))
