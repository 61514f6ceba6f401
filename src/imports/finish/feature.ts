import { feature } from '../../kernel/feature.ts'
import { finishImport, previewFinish } from './finish.ts'

export const finishFeature = feature({ name: 'finish', operations: [previewFinish, finishImport] })
