<?php
// A client's changed name or e-mail reaches Berth at once. Without it the next action of a service brings them.

if (!defined('WHMCS')) {
    die('This file cannot be accessed directly');
}

require_once __DIR__ . '/services.php';

use WHMCS\Database\Capsule;

add_hook('ClientEdit', 1, function (array $vars): void {
    // The person who saved the form waits for this.
    BerthClient::$timeout = min(BerthClient::$timeout, 2.5);
    BerthClient::$pause = min(BerthClient::$pause, 0.3);
    $userId = (int) $vars['userid'];
    foreach (Capsule::table('tblservers')->where('type', 'berth')->get() as $entry) {
        $hasService = fn (string $table) => Capsule::table($table)->where('userid', $userId)->where('server', $entry->id)->first() !== null;
        if (!$hasService('tblhosting') && !$hasService('tblhostingaddons')) {
            continue;
        }
        try {
            $client = berth_client([
                'serverhostname' => $entry->hostname,
                'serverport' => $entry->port,
                'serversecure' => $entry->secure === 'on',
                // Some releases keep it encrypted.
                'serveraccesshash' => str_starts_with(trim($entry->accesshash), 'pnl_') ? $entry->accesshash : decrypt($entry->accesshash),
            ]);
            $client->knownCustomer(berth_serviceOf(berth_installation((int) $entry->id), '', $userId, $vars));
        } catch (BerthError $error) {
            logActivity("Client $userId was changed and Berth does not know it yet. {$error->words()}", $userId);
        }
    }
});
