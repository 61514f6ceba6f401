/** `412 h 08 min`; seconds below a minute. */
export function heldWords(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return hours ? `${hours.toLocaleString('en')} h ${String(minutes % 60).padStart(2, '0')} min` : `${minutes} min`
}

/**
 * A length of time in hours and minutes; the title has the seconds, by which it is billed. `unit`: where no column says
 * it.
 */
export const HeldTime = ({ seconds, unit }: { seconds: number; unit?: string }) => (
  <span title={`${seconds.toLocaleString('en', { maximumFractionDigits: 3 })} seconds`}>
    {heldWords(seconds)}
    {unit && <span class="per"> {unit}</span>}
  </span>
)
