import { feature } from '../../kernel/feature.ts'
import { getTimeline } from './timeline.ts'

export const timelineFeature = feature({ name: 'timeline', operations: [getTimeline] })
