import { h } from 'preact'
import type { Content, Html } from '../../src/kernel/web/html.ts'
import type { IconName } from '../components/icon.tsx'
import { JobState, NodeState, OpenState, ServerState, State, serverStates, type Tone } from '../components/state.tsx'

export { serverStates }
export const pill = (tone: Tone, shape: IconName, words: Content): Html => h(State, { tone, shape, children: words })
export const serverState = (of: Parameters<typeof ServerState>[0]['of']): Html => h(ServerState, { of })
export const jobState = (of: Parameters<typeof JobState>[0]['of']): Html => h(JobState, { of })
export const nodeState = (of: { connected: boolean; open: boolean }): Html => h(NodeState, { of })
export const openState = (open: boolean): Html => h(OpenState, { open })
