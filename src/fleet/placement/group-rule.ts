// The rule of a placement group for the node of one of its workloads.

export type GroupRule = {
  name: string
  /** A node that breaks it is refused; otherwise one that keeps it comes first. */
  hard: boolean
  /** No other node can keep it; undefined: any may. */
  nodeIds?: readonly string[] | undefined
  /** Why a node breaks it, in words for staff that follow the node's name; undefined: it keeps it. */
  brokenBy(nodeId: string): string | undefined
}
