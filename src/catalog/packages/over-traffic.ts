/** Policies for a server that has used its traffic: it keeps running, or is suspended or slowed down for the month. */
export const overTrafficPolicies = ['nothing', 'suspend', 'throttle'] as const
export type OverTraffic = (typeof overTrafficPolicies)[number]

export const overTrafficWords: Readonly<Record<OverTraffic, string>> = {
  nothing: 'It keeps running',
  suspend: 'It is suspended until the month ends or traffic is added',
  throttle: 'It is slowed down until the month ends or traffic is added',
}
