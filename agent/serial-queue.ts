/** Answers a function that runs each piece of work after the one before has ended, also where that failed. */
export function serialQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.catch(() => {}).then(work)
    last = turn
    return turn
  }
}
