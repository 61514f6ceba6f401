// The parts of container instances that a host lacks: it runs none, and says why.
import type { Access } from '../../drivers/access/access.ts'
import type { Workspaces } from '../../drivers/workspace/workspaces.ts'
import { Failure } from '../../failure.ts'

const WHY = 'This version of the agent runs no container instances on real hosts.'
const refuse = async (): Promise<never> => {
  throw new Failure('no_container_engine', WHY)
}
const nothing = async () => {}
const none = async () => []

export const absentAccess: Access = {
  problems: async () => [WHY],
  fit: refuse,
  open: refuse,
  started: refuse,
  closed: nothing,
  setKeys: refuse,
  answers: async () => false,
  remove: nothing,
  forget: nothing,
  ensure: async () => false,
}

export const absentWorkspaces: Workspaces = {
  create: refuse,
  ready: refuse,
  remove: nothing,
  list: none,
  problems: none,
}
