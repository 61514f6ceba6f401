<?php
// Receives Berth's webhooks: /modules/servers/berth/webhook.php. A change that was made in Berth becomes the state of the
// service in WHMCS. Every event may come twice and does the same each time.

require __DIR__ . '/../../../init.php';
require_once __DIR__ . '/BerthClient.php';

use WHMCS\Database\Capsule;

function berth_answer(int $status, string $words): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    exit($words);
}

$body = (string) file_get_contents('php://input');
$timestamp = $_SERVER['HTTP_X_PANEL_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_X_PANEL_SIGNATURE'] ?? '';
$sender = null;
foreach (Capsule::table('tblservers')->where('type', 'berth')->get() as $server) {
    $secret = decrypt($server->password);
    if ($secret !== '' && BerthClient::isGenuine($secret, $timestamp, $signatures, $body)) {
        $sender = $server;
    }
}
if ($sender === null) {
    berth_answer(401, 'The signature fits no server of the module berth.');
}
$event = json_decode($body, true);
$service = $event['data']['server']['billingServiceId'] ?? '';
if (!preg_match('/^whmcs:(\d+)$/', (string) $service, $found)) {
    berth_answer(200, 'Not about a service of this WHMCS.');
}
$row = Capsule::table('tblhosting')->where('id', (int) $found[1])->where('server', $sender->id)->first();
if ($row === null) {
    berth_answer(200, 'This WHMCS has no such service.');
}
$change = match ($event['type']) {
    'server.provisioned' => ['dedicatedip' => (string) $event['data']['server']['ipv4']],
    'server.suspended' => ['status' => 'Suspended', 'suspendreason' => (string) ($event['data']['reason'] ?? '')],
    'server.unsuspended' => ['status' => 'Active'],
    'server.terminated' => ['status' => 'Terminated'],
    default => null,
};
if ($change !== null) {
    $result = localAPI('UpdateClientProduct', ['serviceid' => $row->id] + $change);
    if (($result['result'] ?? '') !== 'success') {
        // Berth sends it again.
        berth_answer(500, 'WHMCS did not take the change: ' . ($result['message'] ?? ''));
    }
}
logActivity("Berth: {$event['type']} of service {$row->id} ({$event['id']})");
berth_answer(200, 'Done.');
