<?php
// Receives Berth's webhooks: /modules/servers/berth/webhook.php. A change that was made in Berth becomes the state of the
// service in WHMCS. Every event may come twice and does the same each time; one that comes late changes nothing.

require __DIR__ . '/../../../init.php';
require_once __DIR__ . '/services.php';

use WHMCS\Database\Capsule;
use WHMCS\Service\Addon;
use WHMCS\Service\Service;

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
$server = $event['data']['server'] ?? [];
try {
    $named = berth_named((string) ($server['billingServiceId'] ?? ''), berth_installation((int) $sender->id));
} catch (BerthError $error) {
    berth_answer(503, $error->words());
}
if ($named === null) {
    berth_answer(200, 'Not about a service of this WHMCS.');
}
$isAddon = $named['kind'] === 'addon';
$rows = Capsule::table($isAddon ? 'tblhostingaddons' : 'tblhosting');
if ($rows->where('id', $named['id'])->where('server', $sender->id)->first() === null) {
    berth_answer(200, 'This WHMCS has no such service.');
}
$model = $isAddon ? Addon::find($named['id']) : Service::find($named['id']);
$known = (string) $model->serviceProperties->get(BERTH_SERVER);
if ($known !== '' && $known !== $server['id']) {
    berth_answer(200, 'About an earlier server of this service.');
}
$happenedAt = (string) ($event['created_at'] ?? '');
if (strcmp($happenedAt, (string) $model->serviceProperties->get(BERTH_EVENT)) < 0) {
    berth_answer(200, 'Something later is known already.');
}
$status = match ($event['type']) {
    'server.suspended' => 'Suspended',
    'server.unsuspended' => 'Active',
    'server.terminated' => 'Terminated',
    'server.undeleted' => ($server['status'] ?? '') === 'suspended' ? 'Suspended' : 'Active',
    default => null,
};
if ($status !== null) {
    $change = ['status' => $status];
    if ($status === 'Suspended' && !$isAddon) {
        $change['suspendreason'] = (string) ($event['data']['reason'] ?? '');
    }
    $result = $isAddon
        ? localAPI('UpdateClientAddon', ['id' => $named['id']] + $change)
        : localAPI('UpdateClientProduct', ['serviceid' => $named['id']] + $change);
    if (($result['result'] ?? '') !== 'success') {
        // Berth sends it again.
        berth_answer(500, 'WHMCS did not take the change: ' . ($result['message'] ?? ''));
    }
    $model->serviceProperties->save([BERTH_EVENT => $happenedAt]);
}
if ($event['type'] === 'server.undeleted') {
    // Terminate had forgotten it.
    $model->serviceProperties->save([BERTH_SERVER => (string) $server['id']]);
}
if ($event['type'] === 'server.provisioned' || $event['type'] === 'server.undeleted') {
    $model->serviceProperties->save(['Dedicated IP' => (string) ($server['ipv4'] ?? '')]);
}
logActivity("Berth: {$event['type']} of {$named['kind']} {$named['id']} ({$event['id']})");
berth_answer(200, 'Done.');
