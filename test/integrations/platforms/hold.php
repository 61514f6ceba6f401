<?php
/** Ends the run where a module breaks what its platform's documentation asks of it. */
function hold(bool $is, string $promise): void
{
    if (!$is) {
        fwrite(STDERR, "the module breaks its contract: $promise\n");
        exit(1);
    }
}
