/**
 * Waits until `holds` says true, ten seconds at most. It ends quietly when it never does: the assertion after it says
 * what is there instead. For outcomes that come by themselves, in place of a fixed sleep, which is too short on a busy
 * machine.
 */
export async function eventually(holds: () => boolean | Promise<boolean>, seconds = 10): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await Bun.sleep(5)) if (await holds()) return
}
