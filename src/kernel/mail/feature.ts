import { feature } from '../feature.ts'
import { mailDelivery } from './mail.ts'

export const mailFeature = feature({ name: 'mail', deliveries: [mailDelivery] })
