/** Policies for a server that has used its traffic of the month: it goes on, or is suspended until the month ends. */
export const overTrafficPolicies = ['nothing', 'suspend'] as const
export type OverTraffic = (typeof overTrafficPolicies)[number]

export const overTrafficWords: Readonly<Record<OverTraffic, string>> = {
  nothing: 'It goes on',
  suspend: 'It is suspended until the month ends or traffic is added',
}
