import { feature } from '../../kernel/feature.ts'

/** Has pages alone. */
export const documentsFeature = feature({ name: 'documents' })
