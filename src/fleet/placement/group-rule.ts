// The rule of a placement group for the node of one of its workloads.

export type GroupRule = {
  name: string
  /** A node that breaks it is refused; otherwise one that keeps it comes first. */
  hard: boolean
  /** Why a node breaks it, in words for staff that follow the node's name; undefined: it keeps it. */
  brokenBy(nodeId: string): string | undefined
}

/** Orders nodes: those that keep the rule come first. */
export const byGroup =
  (rule: GroupRule | undefined) =>
  (a: { id: string }, b: { id: string }): number =>
    rule ? Number(rule.brokenBy(a.id) !== undefined) - Number(rule.brokenBy(b.id) !== undefined) : 0
