import { agentCommand } from '../../agent/main.ts'

process.exit(await agentCommand(process.argv.slice(2)))
