import { h } from 'preact'
import type { Content, Html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { here, Live } from '../components/live.tsx'

export { here }
export const live = (_at: At, id: string, seconds: number | undefined, inner: Content, look = 'live'): Html =>
  h(Live, { id, every: seconds, class: look, children: inner })
