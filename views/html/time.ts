import { h } from 'preact'
import type { Html } from '../../src/kernel/web/html.ts'
import { Clock, Exact, howLong, Moment, span, Time, ZoneName } from '../components/time.tsx'

export { howLong, span }
export const time = (iso: string, _at?: unknown): Html => h(Time, { iso })
export const exact = (iso: string, _at?: unknown): Html => h(Exact, { iso })
export const moment = (iso: string, _at?: unknown): Html => h(Moment, { iso })
export const clock = (iso: string, _at?: unknown): Html => h(Clock, { iso })
export const zoneName = (_at?: unknown): Html => h(ZoneName, {})
