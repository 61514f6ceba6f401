import type { World } from '../../support/world/panel.ts'

/** Reads the end of each server of an action for many, by its name. */
export const resultsOf = async (p: World, id: string) =>
  Object.fromEntries(
    (await p.admin('GET', `/admin/bulk-actions/${id}/servers`)).data.map(({ name, state, code }: any) => [
      name,
      code ? `${state}: ${code}` : state,
    ]),
  )
