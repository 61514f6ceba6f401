/** An event as it is emitted; `data` is what its type declares. */
export type EmittedEvent = {
  id: string
  type: string
  createdAt: number
  subjectType: string
  subjectId: string
  customerId: string | null
  resellerId: string | null
  data: unknown
}
