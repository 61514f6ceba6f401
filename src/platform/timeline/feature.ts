import { feature } from '../../kernel/feature.ts'
import { getInstanceTimeline, getTimeline } from './timeline.ts'

export const timelineFeature = feature({ name: 'timeline', operations: [getTimeline, getInstanceTimeline] })
